//! Types of partitions as sfdisk and sgdisk name them.

/// The code of a type of `diskSetup.partitions[].diskLayout`; `None` for a GUID, which stands for
/// itself.
pub(super) fn code(name: &str) -> Option<&'static str> {
    match name {
        "Linux" => Some("83"),
        "LinuxSwap" => Some("82"),
        "LinuxRAID" => Some("fd"),
        "LVM" => Some("8e"),
        "Fat32" => Some("0c"),
        "NTFS" => Some("07"),
        "LinuxExtended" => Some("85"),
        _ => None,
    }
}
