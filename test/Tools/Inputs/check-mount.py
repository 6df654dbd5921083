"""Checks a mounted bundle against the files that are written of it.

    check-mount.py BUNDLE FILES MOUNTPOINT
"""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

bundle, files, place = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])


def wait_for(condition):
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("nothing happened in 20 seconds")


def check_files():
    """Names, sizes before anything was read, and bytes."""
    names = sorted(path.name for path in files.iterdir())
    assert sorted(os.listdir(place)) == names
    for name in names:
        assert (place / name).stat().st_size == (files / name).stat().st_size, name
    for name in names:
        assert (place / name).read_bytes() == (files / name).read_bytes(), name
    return names


def refuses(call):
    try:
        call()
    except OSError as error:
        assert error.errno == errno.EROFS, error
        return
    raise AssertionError("the folder changed")


def check_writing(name):
    """Opening for writing succeeds, and nothing else does."""
    with open(place / name, "r+b", buffering=0) as file:
        assert file.read(4) == (files / name).read_bytes()[:4]
        refuses(lambda: file.write(b"x"))
    for call in (lambda: open(place / name, "wb"), lambda: open(place / "new", "wb"),
                 lambda: (place / name).unlink(), lambda: (place / "new").mkdir(),
                 lambda: (place / name).rename(place / "new"), lambda: (place / name).chmod(0)):
        refuses(call)
    assert (place / name).read_bytes() == (files / name).read_bytes()


def check_pieces(name):
    """Parts of files in any order, of more files than are kept."""
    names = sorted(path.name for path in files.glob("*.et"))[::37]
    opened = [open(place / other, "rb", buffering=0) for other in names]
    for start in (100, 0, 3000, 10**9):
        for other, file in zip(names, opened):
            file.seek(start)
            assert file.read(50) == (files / other).read_bytes()[start:start + 50]
    for file in opened:
        file.close()
    for wrong in ("workload.99999.et", "workload.01.et", "workload.-1.et", "other.0.et", "x"):
        assert not (place / wrong).exists()


def main():
    # In the foreground, until a signal comes.
    server = subprocess.Popen(["stg-mount", "--foreground", "--cache=1", bundle, place])
    try:
        wait_for(lambda: os.path.ismount(place) or server.poll() is not None)
        assert server.poll() is None
        names = check_files()
        check_pieces(names[-1])
        check_writing("workload.1.et")
    finally:
        server.send_signal(signal.SIGTERM)
    assert server.wait(20) == 0 and not os.path.ismount(place)
    assert os.listdir(place) == []
    # In the background, until it is unmounted; the name of the folder is a relative one.
    subprocess.run(["stg-mount", os.path.abspath(bundle), place.name], cwd=place.parent, check=True)
    assert os.path.ismount(place)
    assert (place / "workload.7.et").read_bytes() == (files / "workload.7.et").read_bytes()
    subprocess.run(["fusermount3", "-u", place], check=True)
    assert not os.path.ismount(place)
    print(f"{len(names)} files")


if __name__ == "__main__":
    main()
