"""Large SKOS thesauri: CPU seconds, memory and counts, beside a graph and queries of rdflib.

    python benchmarks/bench_thesauri.py --concepts 100000
    python benchmarks/bench_thesauri.py --concepts 10000 --syntaxes turtle --no-rdflib

The thesaurus is drawn: every concept has a preferred label in three languages, every second one an
alternative label in each, a tenth has two broader concepts, a hundredth is deprecated, and every
thousandth is a top concept. It is written as N-Triples, Turtle and RDF/XML, and each file is read
in a process of its own: by ``Hierarchy.read``, and by rdflib into a graph that SPARQL queries
count. CPU seconds are those of reading, and for rdflib also of the queries; memory is the largest
resident set of the process less that before reading.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

BASE = "http://x.org/c/"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "skos": SKOS,
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
LANGUAGES = ("en", "fi", "sv")
SYNTAXES = {"n-triples": ".nt", "turtle": ".ttl", "rdf-xml": ".rdf"}
RDFLIB = {"n-triples": "nt", "turtle": "turtle", "rdf-xml": "xml"}


def drawn(n_concepts, seed=0):
    """Yield subjects with their facts: pairs of a predicate and an address or a tagged text."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abdeghiklmnoprstuväö"))
    words = ["".join(rng.choice(letters, rng.integers(4, 12))) for _ in range(20_000)]
    n_tops = max(1, n_concepts // 1000)
    yield f"{BASE}scheme", [("rdf:type", f"{SKOS}ConceptScheme")]
    for i in range(n_concepts):
        facts = [("rdf:type", f"{SKOS}Concept"), ("skos:inScheme", f"{BASE}scheme")]
        if i < n_tops:
            facts.append(("skos:topConceptOf", f"{BASE}scheme"))
        else:
            above = {max(i // 10, i % n_tops)}
            above |= {int(rng.integers(i))} if rng.random() < 0.1 else set()
            facts += [("skos:broader", f"{BASE}{each}") for each in sorted(above)]
            if rng.random() < 0.01:
                facts.append(("owl:deprecated", ("true", None)))
        for tag in LANGUAGES:
            label = " ".join(words[k] for k in rng.integers(0, len(words), 2))
            facts.append(("skos:prefLabel", (f"{label} {i}", tag)))
            if i % 2:
                facts.append(("skos:altLabel", (words[int(rng.integers(len(words)))], tag)))
        facts.append(("skos:notation", (f"{i:07}", "")))
        yield f"{BASE}{i}", facts


def written(value):
    """Return an object in N-Triples and Turtle."""
    if isinstance(value, str):
        return f"<{value}>"
    text, tag = value
    if tag is None:
        return f'"{text}"^^<{SPACES["xsd"]}boolean>'
    return f'"{text}"@{tag}' if tag else f'"{text}"'


def write_n_triples(subjects, file):
    for subject, facts in subjects:
        for predicate, value in facts:
            space, _, name = predicate.partition(":")
            file.write(f"<{subject}> <{SPACES[space]}{name}> {written(value)} .\n")


def write_turtle(subjects, file):
    file.writelines(f"@prefix {name}: <{address}> .\n" for name, address in SPACES.items())
    for subject, facts in subjects:
        lines = " ;\n    ".join(f"{predicate} {written(value)}" for predicate, value in facts)
        file.write(f"\n<{subject}> {lines} .\n")


def write_rdf_xml(subjects, file):
    spaces = " ".join(f'xmlns:{name}="{address}"' for name, address in SPACES.items())
    file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF {spaces}>\n')
    for subject, facts in subjects:
        file.write(f'<rdf:Description rdf:about="{subject}">\n')
        for predicate, value in facts:
            if isinstance(value, str):
                file.write(f'  <{predicate} rdf:resource="{value}"/>\n')
                continue
            text, tag = value
            mark = f' xml:lang="{tag}"' if tag else ""
            mark = f' rdf:datatype="{SPACES["xsd"]}boolean"' if tag is None else mark
            file.write(f"  <{predicate}{mark}>{escape(text)}</{predicate}>\n")
        file.write("</rdf:Description>\n")
    file.write("</rdf:RDF>\n")


WRITERS = {"n-triples": write_n_triples, "turtle": write_turtle, "rdf-xml": write_rdf_xml}


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_once(path, syntax, reader):
    """Read a file in this process, and print the costs and counts as JSON."""
    if reader == "rdflib":
        import rdflib
        from bench_label_trees import query_counts

        before, start = resident(), time.process_time()
        graph = rdflib.Graph().parse(path, format=RDFLIB[syntax])
        seconds = time.process_time() - start
        counts = query_counts(graph)
        found = {"seconds": seconds, "queries": time.process_time() - start - seconds}
    else:
        import rdflib.plugins.parsers.notation3  # so that no import is counted

        import palmette as pm

        before, start = resident(), time.process_time()
        h = pm.Hierarchy.read(path, format=syntax)
        found = {"seconds": time.process_time() - start, "nodes": h.n_nodes - 1}
        counts = dict(h.vocabulary.counts)
    print(json.dumps({**found, "memory": resident() - before, "counts": counts}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--concepts", type=int, default=100_000)
    parser.add_argument("--syntaxes", nargs="+", default=list(SYNTAXES), choices=SYNTAXES)
    parser.add_argument("--no-rdflib", action="store_true", help="leave the other graph out")
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_once(*options.read)
        return
    print("| syntax | file MB | reader | CPU s | queries s | MiB | counts |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for syntax in options.syntaxes:
            path = Path(folder) / f"thesaurus{SYNTAXES[syntax]}"
            with path.open("w", encoding="utf-8") as file:
                WRITERS[syntax](drawn(options.concepts), file)
            size, seen = path.stat().st_size / 1e6, {}
            for reader in ("Palmette",) if options.no_rdflib else ("Palmette", "rdflib"):
                command = [sys.executable, __file__, "--read", str(path), syntax, reader]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout.splitlines()[-1])
                seen[reader] = found["counts"]
                names = ("concepts", "deprecated", "top_concepts", "links")
                counts = ", ".join(f"{seen[reader][n]:,} {n.replace('_', ' ')}" for n in names)
                queries = f"{found['queries']:.1f}" if "queries" in found else ""
                print(
                    f"| {syntax} | {size:.1f} | {reader} | {found['seconds']:.1f} | {queries} | "
                    f"{found['memory']:.0f} | {counts} |",
                    flush=True,
                )
            if len(seen) == 2:
                same = all(seen["Palmette"][name] == n for name, n in seen["rdflib"].items())
                print(f"| {syntax} | | equal counts | | | | {'yes' if same else 'NO'} |")
            path.unlink()


if __name__ == "__main__":
    main()
