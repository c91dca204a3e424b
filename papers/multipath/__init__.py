"""Several paths a row, trees and DAGs: this library beside the published networks."""
