"""Streaming XML with defusedxml: no entities, no external files, no tree, no recursion."""

from __future__ import annotations

import re
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from palmette.core.taxonomy.source import Source

__all__ = ["PlaceHandler", "parse_xml", "root_element"]

# Atomic groups: text before the first element is scanned only once.
_FIRST_ELEMENT = re.compile(
    r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>\[]*(?:\[[^\]]*\])?\s*>)*+<([^\s/>!?]+)",
    re.DOTALL,
)


def root_element(source: Source) -> str | None:
    """Return the name of the root element, without its prefix; None if the file is not XML."""
    if not source.head.startswith("<"):
        return None
    match = _FIRST_ELEMENT.match(source.head)
    return match.group(1).rpartition(":")[2] if match else None


class PlaceHandler(ContentHandler):
    """A SAX handler with the current line."""

    @property
    def line(self) -> int:
        """Line of the current event."""
        # the parser sets the locator before the first event; typeshed does not declare it
        return int(self._locator.getLineNumber())  # type: ignore[attr-defined]


def parse_xml(source: Source, handler: PlaceHandler) -> None:
    """Send the events of an XML file to a handler; entities and malformed XML are errors."""
    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    source.require_text()
    parser = make_parser()
    parser.forbid_dtd = False  # a document type alone is harmless
    parser.forbid_entities = parser.forbid_external = True
    parser.setContentHandler(handler)
    handler.setDocumentLocator(parser)
    try:
        # all at once: Expat would scan a long token again for every piece
        parser.feed(source.data)
        parser.close()
    except DefusedXmlException as error:
        raise source.error(
            f"the XML declares entities or refers to other files, which is not allowed ({error})"
        ) from None
    except SAXParseException as error:
        raise source.error(
            f"this is not well-formed XML ({error.getMessage()})",
            error.getLineNumber(),
            column=error.getColumnNumber() or 0,
        ) from None
    except (SAXException, LookupError) as error:  # an unknown encoding
        raise source.error(f"the XML cannot be read ({error})") from None
