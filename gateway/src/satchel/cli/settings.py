"""Settings of the command line: variables ``SATCHEL_<FIELD>``, and the options of the same names. Light."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from satchel.runtime.settings import Secret, setting

PREFIX = "SATCHEL"


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """What every command asks for; an option of the command line wins."""

    data_dir: Path = setting(Path("~/.satchel"), "Data folder.")
    url: str = setting(
        "", "gRPC address of a running Satchel, instead of a data folder: host:port, or name=host:port,..."
    )
    project: str = setting("", "Project of the commands; 'default' when empty.")
    token: Secret = setting(Secret(""), "Key that commands send to the Satchel that they call.")
    grpc: str = setting("127.0.0.1:50051", "Address of gRPC of `satchel up` and `satchel server`.")
    insecure_bind: bool = setting(
        default=False,
        description="Whether `satchel serve` listens where others reach it although callers need no key.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] | None = setting(
        None, "Least level of logs. Empty: INFO for what serves, CRITICAL for commands."
    )
    log_format: Literal["text", "json"] | None = setting(
        None, "Form of logs. Empty: text on a terminal and for commands, else json."
    )
