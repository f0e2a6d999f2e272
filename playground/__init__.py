"""The site: every page of the house, and a playground that runs the steps in a browser tab."""
