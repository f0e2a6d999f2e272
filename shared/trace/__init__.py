"""Watching the loop turn: a run recorded event by event, and shown in its two channels."""
