"""Streaming XML with defusedxml: no entities, nothing from outside, no tree, no recursion."""

from __future__ import annotations

import re
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from palmette.core.taxonomy.source import Source

__all__ = ["PlaceHandler", "parse_xml", "root_element"]

# Atomic groups: what was skipped before the first element is never looked at twice.
_FIRST_ELEMENT = re.compile(
    r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>\[]*(?:\[[^\]]*\])?\s*>)*+<([^\s/>!?]+)",
    re.DOTALL,
)


def root_element(source: Source) -> str | None:
    """Return the name of the outermost element, without its prefix; None where it is not XML."""
    if not source.head.startswith("<"):
        return None
    match = _FIRST_ELEMENT.match(source.head)
    return match.group(1).rpartition(":")[2] if match else None


class PlaceHandler(ContentHandler):
    """A SAX handler that knows the line it is at."""

    @property
    def line(self) -> int:
        """Line of the event that is being handled."""
        # typeshed leaves the locator, which the parser sets before the first event, untyped
        return int(self._locator.getLineNumber())  # type: ignore[attr-defined]


def parse_xml(source: Source, handler: PlaceHandler) -> None:
    """Send the events of an XML file to a handler; entities and broken XML are read errors."""
    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    source.require_text()
    parser = make_parser()
    parser.forbid_dtd = False  # a document type alone does no harm
    parser.forbid_entities = parser.forbid_external = True
    parser.setContentHandler(handler)
    handler.setDocumentLocator(parser)
    try:
        # in one piece: Expat scans a long token anew for every piece that it is fed
        parser.feed(source.data)
        parser.close()
    except DefusedXmlException as error:
        raise source.error(
            f"the XML declares entities or refers to other files, which is refused ({error})"
        ) from None
    except SAXParseException as error:
        raise source.error(
            f"this is no well-formed XML ({error.getMessage()})",
            error.getLineNumber(),
            column=error.getColumnNumber() or 0,
        ) from None
    except (SAXException, LookupError) as error:  # an encoding that Python does not know
        raise source.error(f"the XML cannot be read ({error})") from None
