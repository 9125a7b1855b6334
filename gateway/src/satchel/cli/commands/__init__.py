"""The commands: arguments and help. What they do is in `satchel.cli.actions`, imported when needed."""
