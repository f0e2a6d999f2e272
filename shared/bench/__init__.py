"""What the steps cost, measured: beside the least that could do their work, and beside others."""
