"""Several paths per row, trees and DAGs: this library compared with the published networks."""
