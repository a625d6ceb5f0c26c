"""The module pkg.api_types, imported when a hint of the API is resolved."""

from typing import TYPE_CHECKING

from pkg.lazy_module import LazyModule

if TYPE_CHECKING:
    from pkg import api_types as api_types
else:
    api_types = LazyModule("pkg.api_types")
