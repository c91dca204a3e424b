"""Several paths per row, trees and DAGs: this library beside the published networks."""
