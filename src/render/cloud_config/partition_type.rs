//! Types of partitions as sfdisk and sgdisk name them.

/// The code of a type of `diskSetup.partitions[].diskLayout`; a GUID stands for itself.
pub(super) fn code(name: &str) -> &str {
    match name {
        "Linux" => "83",
        "LinuxSwap" => "82",
        "LinuxRAID" => "fd",
        "LVM" => "8e",
        "Fat32" => "0c",
        "NTFS" => "07",
        "LinuxExtended" => "85",
        guid => guid,
    }
}
