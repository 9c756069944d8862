"""The option --set of commands: key=value pairs."""

from __future__ import annotations

from cantle.errors import ParameterError, raise_alone

Scalar = str | int | float | bool | None


def settings_of(pairs: list[str], preset: str) -> dict[str, Scalar]:
    """The preset, and the settings in a list of key=value pairs; each value is read as a YAML scalar."""
    import yaml

    settings: dict[str, Scalar] = {"preset": preset}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ParameterError(f"--set takes key=value, got {pair!r}; for example --set depth=6")
        if key == "preset":
            raise ParameterError("--set preset: this is an option of its own; write --preset NAME")
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError:
            raise_alone(ParameterError(f"--set {key}: the value is not a YAML scalar"))
        if isinstance(parsed, dict | list):
            raise ParameterError(f"--set {key}: the value is not a YAML scalar")
        settings[key] = parsed
    return settings
