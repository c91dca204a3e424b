"""The command line: one file per command, each around one public call."""
