"""The instruments: they find, run, watch, compare, record and measure a step, whatever it is."""
