//! The keys of configs, object by object.

use super::Kind::{Flag, Names, Number, Object, Objects, Text, Texts};
use super::rules::{
    disk, dropin, file, filesystem, hash, mode, owner, partition, paths, raid, resource, unit,
    version,
};
use super::{Kind, Shape};

const fn plain(keys: &'static [(&'static str, Kind)]) -> Shape {
    Shape {
        keys,
        id: "",
        rule: |_, _| {},
    }
}

pub(super) static CONFIG: Shape = plain(&[
    ("*ignition", Object(&IGNITION)),
    ("storage", Object(&STORAGE)),
    ("systemd", Object(&SYSTEMD)),
    ("passwd", Object(&PASSWD)),
    ("kernelArguments", Object(&KERNEL_ARGUMENTS)),
]);
static IGNITION: Shape = Shape {
    keys: &[
        ("*version", Text),
        ("config", Object(&OTHER_CONFIGS)),
        ("timeouts", Object(&TIMEOUTS)),
        ("security", Object(&SECURITY)),
        ("proxy", Object(&PROXY)),
    ],
    id: "",
    rule: version,
};
static OTHER_CONFIGS: Shape = plain(&[
    ("merge", Objects(&RESOURCE)),
    ("replace", Object(&RESOURCE)),
]);
static TIMEOUTS: Shape = plain(&[("httpResponseHeaders", Number), ("httpTotal", Number)]);
static SECURITY: Shape = plain(&[("tls", Object(&TLS))]);
static TLS: Shape = plain(&[("certificateAuthorities", Objects(&RESOURCE))]);
static PROXY: Shape = plain(&[
    ("httpProxy", Text),
    ("httpsProxy", Text),
    ("noProxy", Texts),
]);
static RESOURCE: Shape = Shape {
    keys: &[
        ("source", Text),
        ("compression", Text),
        ("httpHeaders", Objects(&HEADER)),
        ("verification", Object(&VERIFICATION)),
    ],
    id: "",
    rule: resource,
};
static HEADER: Shape = Shape {
    keys: &[("*name", Text), ("value", Text)],
    id: "name",
    rule: |_, _| {},
};
static VERIFICATION: Shape = Shape {
    keys: &[("hash", Text)],
    id: "",
    rule: hash,
};
static STORAGE: Shape = Shape {
    keys: &[
        ("disks", Objects(&DISK)),
        ("raid", Objects(&RAID)),
        ("filesystems", Objects(&FILESYSTEM)),
        ("files", Objects(&FILE)),
        ("directories", Objects(&DIRECTORY)),
        ("links", Objects(&LINK)),
        ("luks", Objects(&LUKS)),
    ],
    id: "",
    rule: paths,
};
static DISK: Shape = Shape {
    keys: &[
        ("*device", Text),
        ("wipeTable", Flag),
        ("partitions", Objects(&PARTITION)),
    ],
    id: "device",
    rule: disk,
};
static PARTITION: Shape = Shape {
    keys: &[
        ("label", Text),
        ("number", Number),
        ("sizeMiB", Number),
        ("startMiB", Number),
        ("typeGuid", Text),
        ("guid", Text),
        ("wipePartitionEntry", Flag),
        ("shouldExist", Flag),
        ("resize", Flag),
    ],
    id: "",
    rule: partition,
};
static RAID: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("*level", Text),
        ("*devices", Names),
        ("spares", Number),
        ("options", Texts),
    ],
    id: "name",
    rule: raid,
};
static FILESYSTEM: Shape = Shape {
    keys: &[
        ("*device", Text),
        ("format", Text),
        ("path", Text),
        ("wipeFilesystem", Flag),
        ("label", Text),
        ("uuid", Text),
        ("options", Texts),
        ("mountOptions", Texts),
    ],
    id: "device",
    rule: filesystem,
};
static OWNER: Shape = Shape {
    keys: &[("id", Number), ("name", Text)],
    id: "",
    rule: owner,
};
static FILE: Shape = Shape {
    keys: &[
        ("*path", Text),
        ("overwrite", Flag),
        ("contents", Object(&RESOURCE)),
        ("append", Objects(&RESOURCE)),
        ("mode", Number),
        ("user", Object(&OWNER)),
        ("group", Object(&OWNER)),
    ],
    id: "",
    rule: file,
};
static DIRECTORY: Shape = Shape {
    keys: &[
        ("*path", Text),
        ("overwrite", Flag),
        ("mode", Number),
        ("user", Object(&OWNER)),
        ("group", Object(&OWNER)),
    ],
    id: "",
    rule: mode,
};
static LINK: Shape = Shape {
    keys: &[
        ("*path", Text),
        ("overwrite", Flag),
        ("user", Object(&OWNER)),
        ("group", Object(&OWNER)),
        ("*target", Text),
        ("hard", Flag),
    ],
    id: "",
    rule: |_, _| {},
};
static LUKS: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("device", Text),
        ("keyFile", Object(&RESOURCE)),
        ("label", Text),
        ("uuid", Text),
        ("options", Texts),
        ("discard", Flag),
        ("openOptions", Texts),
        ("wipeVolume", Flag),
        ("clevis", Object(&CLEVIS)),
    ],
    id: "name",
    rule: |_, _| {},
};
static CLEVIS: Shape = plain(&[
    ("tang", Objects(&TANG)),
    ("tpm2", Flag),
    ("threshold", Number),
    ("custom", Object(&CLEVIS_CUSTOM)),
]);
static TANG: Shape = plain(&[
    ("*url", Text),
    ("*thumbprint", Text),
    ("advertisement", Text),
]);
static CLEVIS_CUSTOM: Shape = plain(&[("*pin", Text), ("*config", Text), ("needsNetwork", Flag)]);
static SYSTEMD: Shape = plain(&[("units", Objects(&UNIT))]);
static UNIT: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("enabled", Flag),
        ("mask", Flag),
        ("contents", Text),
        ("dropins", Objects(&DROPIN)),
    ],
    id: "name",
    rule: unit,
};
static DROPIN: Shape = Shape {
    keys: &[("*name", Text), ("contents", Text)],
    id: "name",
    rule: dropin,
};
static PASSWD: Shape = plain(&[("users", Objects(&USER)), ("groups", Objects(&GROUP))]);
static USER: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("passwordHash", Text),
        ("sshAuthorizedKeys", Names),
        ("uid", Number),
        ("gecos", Text),
        ("homeDir", Text),
        ("noCreateHome", Flag),
        ("primaryGroup", Text),
        ("groups", Names),
        ("noUserGroup", Flag),
        ("noLogInit", Flag),
        ("shell", Text),
        ("shouldExist", Flag),
        ("system", Flag),
    ],
    id: "name",
    rule: |_, _| {},
};
static GROUP: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("gid", Number),
        ("passwordHash", Text),
        ("shouldExist", Flag),
        ("system", Flag),
    ],
    id: "name",
    rule: |_, _| {},
};
static KERNEL_ARGUMENTS: Shape = plain(&[("shouldExist", Texts), ("shouldNotExist", Texts)]);
