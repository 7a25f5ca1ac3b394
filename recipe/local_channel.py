"""Builds and tries the recipe where no conda channel can be reached: make recipe.

This Python and the wheels that pip finds are packed as conda packages into a channel in a folder; rattler-build solves,
builds and runs the recipe's tests against that channel alone. It shows that the recipe is right, not that the versions
of conda-forge go well together. The Python must be the recipe's oldest, and lie in a folder of its own, as those of
pyenv, uv and containers do.

    python recipe/local_channel.py FOLDER
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path
from platform import python_version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler_build import FileEntry, Package, RenderConfig, Stage0Recipe, assemble_package, collect_files
from rattler_build.progress import SimpleProgressCallback

HERE = Path(__file__).parent
PLATFORM = RenderConfig().target_platform
LIBRARY = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
SCRIPT = "#!/usr/bin/env python\nimport sys\nfrom {module} import {attr}\nsys.exit({attr}())\n"


def needed_wheels() -> list[str]:
    """What the package needs to be built and to run, as pip is told it."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    return ["pip", *project["build-system"]["requires"], *project["project"]["dependencies"]]


def conda_dependencies(installed: Distribution) -> list[str]:
    required = [Requirement(text) for text in installed.requires or []]
    apply = [each for each in required if not each.marker or each.marker.evaluate({"extra": ""})]
    return ["python", *(f"{canonicalize_name(each.name)} {each.specifier}".strip() for each in apply)]


def scripts(installed: Distribution, folder: Path) -> list[FileEntry]:
    """The commands of a package, such as pip, which begin with the Python of their environment."""
    written = []
    for command in installed.entry_points.select(group="console_scripts"):
        file = folder / f"{command.name}.script"
        file.write_text(SCRIPT.format(module=command.module, attr=command.attr), encoding="utf-8")
        file.chmod(0o755)
        written.append(FileEntry.from_paths(file, f"bin/{command.name}"))
    return written


def pack(name: str, version: str, files: list[FileEntry], depends: list[str], channel: Path) -> None:
    """Writes a conda package of these files."""
    folder = channel / PLATFORM
    folder.mkdir(parents=True, exist_ok=True)
    assemble_package(name, version, PLATFORM, "local_0", folder, files=files, depends=depends, compression_level=1)
    print(f"packed {name} {version}", flush=True)


def pack_python(channel: Path) -> None:
    """The Python that runs this, without the packages that were installed into it."""
    files = collect_files(
        sys.base_prefix,
        include_globs=["bin/python*", "lib/libpython*", f"{LIBRARY}/**"],
        exclude_globs=["**/__pycache__/**", f"{LIBRARY}/site-packages/**", f"{LIBRARY}/test/**"],
    )
    pack("python", python_version(), files, [], channel)


def pack_wheel(installed: Distribution, folder: Path, channel: Path) -> None:
    """One of the packages that pip has put into a folder."""
    files = [file for file in installed.files or [] if ".." not in file.parts]
    entries = [FileEntry.from_paths(folder / file, f"{LIBRARY}/site-packages/{file}") for file in files]
    entries += scripts(installed, folder)
    pack(canonicalize_name(installed.name), installed.version, entries, conda_dependencies(installed), channel)


def built(channel: Path) -> Package:
    """The recipe's package, with what rattler-build says meanwhile."""
    recipe = Stage0Recipe.from_file(HERE / "recipe.yaml")
    made = recipe.run_build(channels=[channel.as_uri()], output_dir=channel, progress_callback=SimpleProgressCallback())
    return Package.from_file(made[0].packages[0])


def main(folder: Path) -> None:
    wheels, channel = folder / "wheels", folder / "channel"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(wheels)]
    subprocess.run([*pip, *needed_wheels()], check=True)
    pack_python(channel)
    for installed in distributions(path=[str(wheels)]):
        pack_wheel(installed, wheels, channel)
    package = built(channel)
    tests = package.run_tests(channel=[channel.as_uri()], progress_callback=SimpleProgressCallback())
    failed = [test.test_index for test in tests if not test]
    sys.exit(f"tests of the recipe failed: {failed}" if failed else None)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
