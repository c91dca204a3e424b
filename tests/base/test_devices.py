"""The parameter `device`: which names are accepted, and what an error advises."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import palmette as pm
from palmette.base import _devices
from palmette.base._devices import has_torch_device, require_memory, torch_device
from palmette.exceptions import PalmetteError


class Torch(SimpleNamespace):
    """As much of torch as the module asks for, with some CUDA devices."""

    def __init__(self, n_devices, free=0):
        self.__version__ = "9.9"
        self.cuda = SimpleNamespace(
            is_available=lambda: n_devices > 0,
            device_count=lambda: n_devices,
            mem_get_info=lambda device: (free, 2 * free),
            memory_reserved=lambda device: 3 * 2**30,
            memory_allocated=lambda device: 2 * 2**30,
        )

    def device(self, name):
        kind, _, index = name.partition(":")
        if index and not index.isdigit():
            raise RuntimeError(f"Invalid device string: {name!r}")
        return SimpleNamespace(type=kind, index=int(index) if index else None)


@pytest.fixture
def torch_with(monkeypatch):
    return lambda *arguments: monkeypatch.setitem(sys.modules, "torch", Torch(*arguments))


def test_cpu_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert torch_device("cpu") is None
    assert not has_torch_device()


@pytest.mark.parametrize("name", ["gpu", "cpu:0", "mps", "", 0, None, True])
def test_other_names_are_refused(name):
    with pytest.raises(PalmetteError, match=r"expected 'cpu', 'cuda', or for example 'cuda:1'"):
        torch_device(name)


def test_torch_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PalmetteError, match=r"needs torch.*palmette\[torch\].*device='cpu'"):
        torch_device("cuda")


def test_there_is_no_device(torch_with):
    torch_with(0)
    assert not has_torch_device()
    with pytest.raises(PalmetteError, match=r"needs a CUDA device, but torch 9\.9.*device='cpu'"):
        torch_device("cuda")


def test_devices_are_counted(torch_with):
    torch_with(2)
    assert has_torch_device()
    assert [torch_device(name).index for name in ("cuda", "cuda:0", "cuda:1")] == [None, 0, 1]
    with pytest.raises(PalmetteError, match=r"'cuda:2', but torch finds 2.*a number below 2"):
        torch_device("cuda:2")
    with pytest.raises(PalmetteError, match=r"'cuda:x': expected"):
        torch_device("cuda:x")


def test_memory_is_compared_before_it_is_used(torch_with):
    torch_with(1, 4 * 2**30)
    device = torch_device("cuda")
    require_memory(device, 5 * 2**30, "scores")  # one GiB is kept by torch, and free
    with pytest.raises(PalmetteError, match=r"scores need 6\.0 GiB.*5\.0 GiB are free"):
        require_memory(device, 6 * 2**30, "scores")


def test_estimators_ask_before_they_fit(torch_with):
    torch_with(0)
    model = pm.HierarchicalBoostingClassifier(device="cuda")
    with pytest.raises(PalmetteError, match="device='cuda' needs a CUDA device"):
        model.fit([[0.0], [1.0]], ["a", "b"])


def test_torch_is_imported_only_where_the_system_may_have_a_device(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = lambda: True\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setitem(sys.modules, "torch", None)  # whatever comes is undone
    del sys.modules["torch"]
    for drivers, is_imported in ((("/no/such*",), False), (("/no/such*", str(tmp_path)), True)):
        monkeypatch.setattr(_devices, "_DRIVERS", drivers)
        assert has_torch_device() == is_imported
        assert ("torch" in sys.modules) == is_imported
