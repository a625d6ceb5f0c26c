"""Build folders of ever more packages, and report what a file costs in each stage.

    python benchmarks/growth.py [--cache FOLDER] [--sizes 1000,3000,10000]

Packages are added in a fixed order until a folder has the number of files. Each build is a process of one worker. A
folder of more than 3,000 files is resolved by parts. `others` is the number of cores kept busy by other work: CPU
seconds of a busy machine are higher, so the sizes are compared with each other. Ratios are to the smallest size.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_line, read_options, run_pkg, write_result
from packages import Package, unpack_package

PACKAGES = (
    Package("dagster", "1.13.29", "65f7bf2f52c0c1219cb1ca63a1f0f95a1af83d12e94ebec7598e47ee49889859"),
    Package("icalendar", "7.3.2", "f95ce4ff8f41d8ad9ca253a676ef40c672abd3774458d197c215055a0d805cc4"),
    Package("tensorflow-probability", "0.25.0", "f3f4d6431656c0122906888afe1b67b4400e82bd7f254b45b92e6c5b84ea8e3e"),
    Package("cirq-core", "1.7.0", "9d2e9610b06e2b2b2195184f44c0df4e94f31485831f8e1c6a96c858b7897bce"),
    Package("neutron", "29.0.0", "6e998e2e55d233ff757f3ae1d53dd8dfd2cb455a01868e494c22fd6b8b0aba36"),
    Package("nilearn", "0.14.1", "725206484e9fb3f6691f9c2d20204a068759d5072f12055324702ee0cb2bbe8a"),
    Package("statsmodels", "0.15.0", "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da"),
    Package("astropy", "8.0.2", "000d6998bcf4f097257b3776f29f1dafde0967bf1b091edbad95df564eee4eea"),
    Package("authlib", "1.9.10", "c62d10e1b23945c6d4c578a16170bfefe4879bd23d4be62edea494993dce70aa"),
    Package("keras", "3.15.1", "836460e480930acbd19bb7a17e62f9ecad40e8a9af9a651fc8d0586a96d27e20"),
    Package("cinder", "29.0.0", "da8b1441740fb2dcfd76138607c6a96fc14d2548826741a6246bbd0d73f88860"),
    Package("music21", "10.5.1", "dc3309498c4c95cebdf8d4f20c868deb6b63bce1d929cad4f51a7ccc982987b1"),
    Package("numpy", "2.5.5", "824025655df929268bfe6b47ed91a00d14209a6f760847cf150be446829e1ce4"),
    Package("jax", "0.12.0.1", "e9dfd256ba090259b10f97f0755d4fc92535b8cb38c0a40df6488a8c8a7dd8ae"),
    Package("scipy", "1.17.1", "43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4"),
    Package("qiskit", "2.6.2", "e8578003e39facf72289fafae1542e38646e5cae7c93665f004046efa5797669"),
    Package("wagtail", "8.0.1", "1e6ad5c7891a54efce1400e168298b5a2cc343b642cee89c31bf5ec30c98b26c"),
    Package("mitmproxy", "11.0.2", "95db7b57b21320a0c76e59e1d6644daaa431291cdf89419608301424651199b4"),
    Package("holoviews", "1.23.2", "0742d9d1dbc645611f04f8b948558febf556f712872a1e5bc96c37790722e6ca"),
    Package("nltk", "3.10.4", "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51"),
    Package("pennylane", "0.45.1", "b8cc7f590c43281b6e35b3a35707e9583c6b7babeb31dcf6f1cbde32a754ab93"),
    Package("dask", "2026.8.0", "ccc0c83a189b0398602435189771d28dad7b5773b6089bb8dce14ae732dd782c"),
    Package("django", "5.2.8", "37e687f7bd73ddf043e2b6b97cfe02fcbb11f2dbb3adccc6a2b18c6daa054d7f"),
    Package("netmiko", "4.8.0", "b4875b36604bcc7a72339f3b4d3091ce545ce0b4629f77f7844413b1c380d0e6"),
    Package("scikit-learn", "1.7.2", "89877e19a80c7b11a2891a27c21c4894fb18e2c2e077815bcade10d34287b20d"),
    Package("ray", "2.60.0", "7f7fb209a2df375f141e8d0e132e7644b8e8efe3855b70f4844fbfb14ea6672c"),
    Package("transformers", "5.23.0", "018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf"),
    Package("pandas", "2.3.3", "b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b"),
    Package("pyglet", "2.1.19", "5ba6e8cb0b5ac56a284e43ab411e2bbd504191c32a765abdbd6a6c4b7f1ca317"),
    Package("sqlalchemy", "2.1.9", "3a24b459e52b3ac138f6a05e99a4bd0589443a1ae18041a59c1cfdee12134a2b"),
    Package("sympy", "1.14.0", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"),
    Package("bokeh", "3.10.2", "511f0c3ecbd396012b65b677826c92ccfa4e951a25484da068fed46b1183b154"),
    Package("apache-airflow", "2.11.0", "e3449d46916be2cf7e6068b86dbd958577306e22407e6493ef2ae83a0c73a424"),
    Package("twisted", "26.10.0", "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8"),
    Package("deepchem", "2.8.0", "042c7639770e69b127f3df5e5bdf139893caa1706d512893d78728fd0a2de8b0"),
    Package("mne", "1.13.2", "36bbdd9fdc68431309a75e9dc6331b9de085cb6836688ac50b7b89f141a83cc3"),
    Package("nova", "34.0.0", "8b46997836961762608e6e46e6d4945325d8a1fb8004e79e552e55839061f10c"),
    Package("networkx", "3.5", "0030d386a9a06dee3565298b4a734b68589749a544acbb6c412dc9e2489ec6ec"),
    Package("biopython", "1.88", "410eaa083fcc308b44c7051e597ae2f39e4068754bdd605cc32aed025aa132d0"),
    Package("sphinx", "9.0.4", "5bebc595a5e943ea248b99c13814c1c5e10b3ece718976824ffa7959ff95fffb"),
    Package("monai", "1.6.1", "dbd3b1dd309e752e0477ed73fde03b92f80ac74bfb8a8c4260f018b5d6ab2b0b"),
    Package("yt", "4.4.3", "27daecada56f0ddbda4f18e6466cc097f4eee63251806656f638448643524069"),
    Package("apache-beam", "2.77.0", "2d42b64e1c722f4a37a479d91c1091e8cbb301d1087d7862092df2cadd1919c2"),
    Package("torch-geometric", "2.8.1", "b628de243c0893f3435b6eca9a7bbc07f3219293ed27c974b8929aaae42e65d0"),
    Package("matplotlib", "3.11.2", "1944895967f87c84c9b4bad29a707b31f5b36df4a3a2339ea1f8ea3ce5105539"),
    Package("mlflow", "3.18.0", "be7d84ba0d0b12392f5b53260cdb3e6d7b7ef4b80c29da90a89b5a1f6db7102f"),
    Package("evennia", "6.1.0", "de7ee2a778c4d08fe25f3ff3522313021874377792435faee9db8d11560e58a7"),
    Package("pyomo", "6.10.1", "9efddbc4c83971189047e734ba108ca6fdde8ff3390e0944e6eb928db0707ecd"),
    Package("dipy", "1.12.1", "5f88f5eb386f945903209cfaba7321cd31d42521d622f3ded6bf4d75d7f716ce"),
    Package("openmdao", "3.45.1", "2ac96fcd3ebd4f3096d527f6f792f4b5ddb8823093c2fff1f89f147159fab6da"),
)
STAGES = ("extract", "encode", "store", "names", "resolve")
RATIO = 1.3  # largest cost of a file, compared with the smallest size
MEMORY = 1500  # megabytes


def fill(cache: Path, folder: Path, files: int) -> list[str]:
    """Unpack packages until there are enough files; return their names."""
    names: list[str] = []
    count = 0
    for package in PACKAGES:
        if count >= files:
            return names
        tree = unpack_package(package, cache, folder)
        count += sum(1 for _ in tree.rglob("*.py"))
        names.append(f"{package.name} {package.version}")
    sys.exit(f"the packages have {count} files, expected {files}; ask for fewer with --sizes")


def measure_size(cache: Path, work: Path, files: int) -> Figures:
    """Build a folder of some files."""
    tree = work / f"tree-{files}"
    names = fill(cache, tree, files)
    store = f"sqlite:///{work}/graph-{files}.db"
    run = run_pkg(["build", str(tree), "--store", store, "--jobs", "1", "--no-text", "--json"], work)
    report = read_line(run)
    count = report["written"]
    stages = {stage: round(1000 * report["stages"][stage] / count, 2) for stage in STAGES}
    return {
        "packages": names,
        "files": count,
        "local_errors": len(report["errors"]),
        "cpu_milliseconds_a_file": {**stages, "all": round(1000 * run.cpu / count, 2)},
        "memory_mb": round(run.memory),
        "others": round(run.others, 1),
    }


def main() -> None:
    """Measure all sizes and write the result."""
    parser = make_parser(__doc__)
    parser.add_argument("--sizes", default="1000,3000,10000", help="numbers of files")
    options = read_options(parser)
    sizes: Figures = {}
    with open_folder(options.cache) as (cache, work):
        for size in map(int, options.sizes.split(",")):
            sizes[str(size)] = measure_size(cache, work, size)
            print(size, sizes[str(size)], file=sys.stderr, flush=True)
    first = next(iter(sizes.values()))
    ratios = {
        size: {
            stage: round(value / first["cpu_milliseconds_a_file"][stage], 2)
            for stage, value in found["cpu_milliseconds_a_file"].items()
        }
        for size, found in sizes.items()
    }
    write_result("growth", {"sizes": sizes, "ratios": ratios, "targets": {"ratio": RATIO, "memory_mb": MEMORY}})


if __name__ == "__main__":
    main()
