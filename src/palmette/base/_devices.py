"""Devices of torch: what the parameter `device` of an estimator stands for."""

from __future__ import annotations

import sys
from glob import glob
from typing import Any

import numpy as np

from palmette._arrays import FloatArray
from palmette.exceptions import PalmetteError

# of NVIDIA, its boards with a processor, AMD (which torch calls CUDA too), and Windows' subsystem
_DRIVERS = ("/dev/nvidia*", "/dev/nvhost*", "/dev/kfd", "/dev/dxg")
_SHORT = 2**20  # bytes of a copy that does not wait: they are copied on this machine first


def has_torch_device() -> bool:
    """Return whether torch is installed and has a CUDA device.

    Torch takes seconds to import, so it is only where the system has a device that might be one.
    """
    if "torch" not in sys.modules and sys.platform == "linux" and not any(map(glob, _DRIVERS)):
        return False
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def torch_device(name: Any) -> Any:
    """Return the device of torch that a parameter names, or None for the compiled code of the CPU.

    Parameters
    ----------
    name : str
        "cpu", or a CUDA device of torch: "cuda" or, for example, "cuda:1".

    Returns
    -------
    torch.device or None

    Raises
    ------
    PalmetteError
        If there is no such device, or torch is missing. Torch is imported for other names than
        "cpu" only.

    Examples
    --------
    >>> torch_device("cpu") is None
    True
    """
    if isinstance(name, str) and name == "cpu":
        return None
    if not isinstance(name, str) or name.partition(":")[0] != "cuda":
        raise PalmetteError(f"device={name!r}: expected 'cpu', 'cuda', or for example 'cuda:1'.")
    try:
        import torch
    except ImportError as error:
        raise PalmetteError(
            f"device={name!r} needs torch, which cannot be imported ({error}): "
            "pip install 'palmette[torch]', or pass device='cpu'."
        ) from error
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise PalmetteError(
            f"device={name!r}: expected 'cpu', 'cuda', or for example 'cuda:1'."
        ) from error
    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not n_devices:
        raise PalmetteError(
            f"device={name!r} needs a CUDA device, but torch {torch.__version__} finds none. "
            "Install the driver of the device and a build of torch for CUDA (pytorch.org), or pass "
            "device='cpu'."
        )
    if (device.index or 0) >= n_devices:
        raise PalmetteError(
            f"device={name!r}, but torch finds {n_devices} CUDA device(s): expected a number below "
            f"{n_devices}, or pass device='cpu'."
        )
    return device


def require_memory(device: Any, n_bytes: float, what: str) -> None:
    """Raise an error if a CUDA device has less free memory than something needs."""
    if device.type != "cuda":
        return
    import torch

    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    free = float(torch.cuda.mem_get_info(device)[0] + kept)
    if n_bytes > free:
        raise PalmetteError(
            f"{what} need {n_bytes / 2**30:.1f} GiB on {device}, of which {free / 2**30:.1f} GiB "
            "are free. Use fewer rows, or pass device='cpu'."
        )


def on_host(values: Any) -> FloatArray:
    """Return a tensor as an array of numpy, of the same shape."""
    return np.asarray(values.cpu().numpy())


def placed(values: Any, device: Any) -> Any:
    """Copy an array to a device of torch, if it is short without waiting for the device."""
    import torch

    here = torch.as_tensor(np.ascontiguousarray(values))
    if device.type == "cuda" and here.nbytes <= _SHORT:
        return here.pin_memory().to(device, non_blocking=True)
    return here.to(device)
