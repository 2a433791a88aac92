"""Functions as people write them: one dict in, one dict out."""

from __future__ import annotations

import json
import math

print("a module that prints when it is imported")

_attempts = {"flaky": 0}


def start(inputs):
    """Reads the run's inputs out of the whole state: its step maps nothing."""
    topic = inputs["inputs"]["topic"]
    return {"topic": topic, "words": topic.split(), "length": len(topic)}


def summarize(inputs):
    print("summarizing", inputs["topic"])
    return {"summary": f"{inputs['topic'].upper()} ({inputs['length']})", "nested": {"list": [1, 2.5, None, True, "ü", {"deep": []}]}}


def with_state(inputs):
    """Its step maps one input, and it looks at what came before all the same."""
    return {
        "mapped": inputs["topic"],
        "before": inputs["steps"]["start"]["length"],
        "given": inputs["inputs"]["topic"],
        "workflow": inputs["runtime"]["workflow_id"],
        "names": sorted(name for name in inputs if not name.startswith("_")),
        "missing": inputs.get("nothing", "default"),
    }


def echo(inputs):
    return {"echo": {name: value for name, value in inputs.items() if name not in ("inputs", "steps", "runtime")}}


def classify(inputs):
    text = inputs["issue"].lower()
    severity = "high" if "down" in text else "medium" if "slow" in text else "low"
    return {"severity": severity, "score": len(text)}


def page(inputs):
    return {"paged": True, "severity": inputs["severity"]}


def log(inputs):
    return {"logged": True}


def close(inputs):
    return {"closed": True}


def fail(inputs):
    raise ValueError("out of luck")


def flaky(inputs):
    _attempts["flaky"] += 1
    if _attempts["flaky"] < 3:
        raise RuntimeError(f"attempt {_attempts['flaky']} fails")
    _attempts["flaky"] = 0
    return {"done": True}


def always_flaky(inputs):
    raise OSError("never there")


def nothing(inputs):
    pass


def a_list(inputs):
    return [1, 2]


def an_instance(inputs):
    return {"instance": object()}


def reserved(inputs):
    return {"steps": {}, "ok": True}


def extra(inputs):
    return {"summary": "s", "extra": 1}


def too_few(inputs):
    return {"summary": "s"}


def numbers(inputs):
    return {"sum": math.fsum(inputs["values"]), "text": json.dumps(inputs["values"]), "pair": (1, 2)}


def side_effects(inputs):
    return {"sent": True, "__side_effects__": [{"kind": "email"}]}


def only_here(inputs):
    return {"found": "by its name alone"}
