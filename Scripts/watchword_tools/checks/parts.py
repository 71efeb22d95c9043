"""The parts of Sources, what each may import, and the folders that may call a C library."""

ARROWS = {
    "Core": {"Core"},
    "Vault": {"Vault", "Core"},
    "Exchange": {"Exchange", "Core"},
    "Server": {"Server", "Core"},
    "Programs": {"Programs", "Vault", "Exchange", "Server", "Core"},
}
# The number of import levels that is allowed, from WatchwordSystem to watchword; to be lowered to 6.
LEVELS = 8
# The folders that may use `unsafe`, and the C modules that each may import; other folders may do neither. For a file,
# the longest of these paths counts. A folder that only wraps a library has its name.
FOLDERS = {
    "Core/JSONReading/Jansson": {"CJansson"},
    # The kernel's own interfaces: limits, Landlock, prctl.
    "Core/ProcessConfinement": {"CLinux", "Glibc"},
    "Core/ProcessConfinement/libseccomp": {"CSeccomp", "Glibc"},
    "Core/QRDrawing/libpng": {"CPNG"},
    "Core/QRDrawing/libqrencode": {"CQREncode", "Glibc"},
    "Core/WatchwordCryptography": {"COpenSSL"},
    "Core/WatchwordSystem": {"CLinux", "Glibc"},
    "Vault/Devices/libsystemd": {"CSystemd", "Glibc"},
    "Vault/PAMAuthentication": {"CPAM", "Glibc"},
    "Vault/TokenDrivers/libfido2": {"CFIDO2", "Glibc"},
    "Vault/TokenDrivers/tpm2-tss": {"CTSS2", "Glibc"},
    # Initialises both libraries before the process is confined.
    "Exchange/ExportReading/Cryptography": {"CGcrypt", "CSodium"},
    "Exchange/ExportReading/Cryptography/libargon2": {"CArgon2"},
    "Exchange/ExportReading/Cryptography/libgcrypt": {"CGcrypt"},
    "Exchange/ExportReading/Cryptography/libsodium": {"CSodium"},
    "Exchange/ExportReading/RNP": {"CRNP", "Glibc"},
    "Exchange/ExportReading/SQLite": {"CSQLite"},
    "Exchange/ExportReading/libxml2": {"CXML2"},
    "Exchange/ExportReading/libzip": {"CZip", "Glibc"},
    "Exchange/ExportReading/zlib": {"CZlib"},
    # What the libraries read from and write to; the loops process millions of samples.
    "Exchange/PictureReading/Images/Memory": set(),
    # These libraries are loaded when needed, and their headers are too many to import.
    "Exchange/PictureReading/Images/GLib": set(),
    "Exchange/PictureReading/Images/cairo": set(),
    "Exchange/PictureReading/Images/gdk-pixbuf": set(),
    "Exchange/PictureReading/Images/librsvg": set(),
    "Exchange/PictureReading/Images/poppler": set(),
    "Exchange/PictureReading/Images/giflib": {"CGIF"},
    "Exchange/PictureReading/Images/libheif": {"CHEIF"},
    "Exchange/PictureReading/Images/libjpeg-turbo": {"CTurboJPEG"},
    "Exchange/PictureReading/Images/libpng": {"CPNG"},
    "Exchange/PictureReading/Images/libtiff": {"CTIFF", "Glibc"},
    "Exchange/PictureReading/Images/libwebp": {"CWebP"},
    # Loops over the pixels of large pictures, without a check of each index; Glibc only for `exp`.
    "Exchange/PictureReading/Symbols/Filters": {"Glibc"},
    "Exchange/PictureReading/Symbols/FinderPatterns": {"Glibc"},
    "Exchange/PictureReading/Symbols/ZBar": {"CZBar", "Glibc"},
    "Server/PasskeyVerification/libcbor": {"CCBOR"},
    "Server/HTTPListener": {"CMicroHTTPD", "Glibc"},
    "Server/PostgreSQLStore/PostgreSQL": {"CPostgreSQL", "Glibc"},
    "Server/SQLiteStore/SQLite": {"CSQLite"},
    # Asks how many processors there are.
    "Server/SQLiteStore/Writing": {"Glibc"},
    "Programs/watchword-courier/libcurl": {"CCurl"},
}
# How many folders import each of these; one folder imports any other C library.
SHARED = {
    "CGcrypt": 2,  # its initialisation, and its ciphers
    "CLinux": 2,  # calls that Swift cannot import: for files and processes, and for confinement
    "CPNG": 2,  # the writer, and the reader, which runs only in `watchword-reader`
    "CSQLite": 2,  # the server's store, and the reader of exports, which runs only in `watchword-exports`
    "CSodium": 2,  # its initialisation, and its ciphers
}
