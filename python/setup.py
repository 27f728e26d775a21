"""Builds the extension module against libframebus, which pkg-config must find."""

import subprocess
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


def library_flags(option: str) -> list[str]:
    try:
        found = subprocess.run(
            ["pkg-config", option, "framebus"], capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise SystemExit("framebus: pkg-config is missing; install it and try again") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"framebus: {error.stderr.strip()}\nInstall libframebus (scripts/install of FrameBus), "
            "or set PKG_CONFIG_PATH to the directory of its framebus.pc"
        ) from None
    return found.stdout.split()


class Build(build_ext):
    """Asks pkg-config only when something is built: an sdist needs no library."""

    def build_extension(self, extension: Extension) -> None:
        extension.extra_compile_args += library_flags("--cflags")
        extension.extra_link_args += library_flags("--libs")
        super().build_extension(extension)


native = Extension(
    "framebus._native",
    sources=sorted(glob("native/*.c")),
    depends=["native/native.h"],
    py_limited_api=True,
    extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
                        "-Wno-missing-field-initializers"],
)
setup(
    ext_modules=[native],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
