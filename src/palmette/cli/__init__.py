"""The command line: one file a command, each around one public call."""
