"""Labels: ``y`` in any form to nodes of a hierarchy and back; label spaces; local tasks."""
