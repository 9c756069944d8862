"""The option --set of commands: key=value pairs."""

from __future__ import annotations

from typing import Any

from cantle.errors import ParameterError, raise_alone


def settings_of(pairs: list[str]) -> dict[str, Any]:
    """key=value pairs, the value read as a YAML scalar."""
    import yaml

    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ParameterError(f"--set takes key=value, got {pair!r}; for example --set depth=6")
        try:
            settings[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise_alone(ParameterError(f"--set {key}: the value is not a YAML scalar"))
        if isinstance(settings[key], (dict, list)):
            raise ParameterError(f"--set {key}: the value is not a YAML scalar")
    return settings
