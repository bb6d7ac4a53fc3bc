"""Appends records until killed, and says which ones were accepted. Run by test_results_store."""

import sys
from pathlib import Path

from results_fakes import SPECS, record

from results.store import RunStore


def main(folder: Path) -> None:
    keys = [record(str(item), spec).key for item in range(400) for spec in SPECS[:3]]
    with RunStore.create(folder, {"seed": 0}, resume=True) as store:
        print("open", flush=True)
        for key in keys:
            if key not in store:
                store.append(record(key.item_id, key.decoder, text="x" * 5000))
                print(f"{key.item_id} {key.decoder}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
