"""The container's files name settings that exist, and copy what the package is made of."""

import re
from pathlib import Path

import yaml

from utils.settings import Settings

ROOT = Path(__file__).parents[1]


def _variables() -> set[str]:
    """Return every variable that a setting is read from, and ``NAME_FILE`` of each secret."""
    names = set()
    for field, about in Settings.model_fields.items():
        own = getattr(about.validation_alias, "choices", [field.upper()])
        names |= {str(name) for name in own}
        if "SecretStr" in str(about.annotation):
            names |= {f"{name}_FILE" for name in own}
    return names


def test_compose_sets_only_settings_that_exist():
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert set(compose["services"]["papershelf"]["environment"]) <= _variables()


def test_every_secret_of_a_service_is_a_file_of_the_composition():
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    for service in compose["services"].values():
        for name, value in service["environment"].items():
            if name.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]
        assert set(service["secrets"]) <= set(compose["secrets"])


def test_the_image_is_built_from_files_that_are_there_and_not_ignored():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(.+)", text, re.M)
        for word in line.split()[:-1]
    }
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in kept
