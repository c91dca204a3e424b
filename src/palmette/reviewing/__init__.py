"""Reviews of tables: rows with doubtful labels, uncertain answers, or no fitting class."""

from palmette.reviewing._page import review_page
from palmette.reviewing._review import review

__all__ = ["review", "review_page"]
