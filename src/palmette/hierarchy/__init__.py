"""Class hierarchies: trees and DAGs, names of nodes, drawings, files and checks of files."""
