"""Markers of the whole suite."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(name, ...): proves promises of tests/requirements.py")
