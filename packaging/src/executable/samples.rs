//! Programs of headers alone, and nothing to run behind them.

/// How the blob of a code signature begins.
const SIGNATURE: [u8; 12] = [0xfa, 0xde, 0x0c, 0xc0, 0, 0, 0, 12, 0, 0, 0, 0];

pub(crate) const PE_X64: u16 = 0x8664;
pub(crate) const PE_ARM64: u16 = 0xaa64;
pub(crate) const MACH_X64: u32 = 0x0100_0007;
pub(crate) const MACH_ARM64: u32 = 0x0100_000c;
pub(crate) const ELF_X64: u16 = 62;
pub(crate) const ELF_ARM64: u16 = 183;

struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }
    fn zeros(mut self, count: usize) -> Self {
        self.0.extend(vec![0; count]);
        self
    }
}

/// A 64-bit Windows program, or a library.
pub(crate) fn pe(machine: u16, is_library: bool) -> Vec<u8> {
    let characteristics = if is_library { 0x2022 } else { 0x22 };
    Bytes(Vec::new())
        .raw(b"MZ")
        .zeros(58)
        .u32(64)
        .raw(b"PE\0\0")
        .u16(machine)
        .zeros(14)
        .u16(240)
        .u16(characteristics)
        .u16(0x20b)
        .zeros(106)
        .u32(16)
        .zeros(128)
        .0
}

/// A 64-bit macOS program, with a code signature or without; `kind` is 2 for programs.
pub(crate) fn mach_o(cpu: u32, kind: u32, is_signed: bool) -> Vec<u8> {
    let (commands, size) = if is_signed { (1, 16) } else { (0, 0) };
    let header = Bytes(Vec::new())
        .u32(0xfeed_facf)
        .u32(cpu)
        .u32(0)
        .u32(kind)
        .u32(commands)
        .u32(size)
        .zeros(8);
    if !is_signed {
        return header.0;
    }
    header.u32(0x1d).u32(16).u32(48).u32(12).raw(&SIGNATURE).0
}

/// A universal file of these programs.
pub(crate) fn universal(parts: &[(u32, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xcafe_babe_u32.to_be_bytes());
    file.extend(u32::try_from(parts.len()).unwrap().to_be_bytes());
    let mut offset = 8 + 20 * parts.len();
    for (cpu, part) in parts {
        let values = [
            *cpu,
            0,
            u32::try_from(offset).unwrap(),
            u32::try_from(part.len()).unwrap(),
            0,
        ];
        file.extend(values.into_iter().flat_map(u32::to_be_bytes));
        offset += part.len();
    }
    for (_, part) in parts {
        file.extend(*part);
    }
    file
}

/// A 64-bit Linux program that asks for this interpreter, or a static one.
pub(crate) fn elf(machine: u16, interpreter: Option<&str>) -> Vec<u8> {
    let interpreter = interpreter.map(|path| format!("{path}\0"));
    let header = Bytes(Vec::new())
        .raw(b"\x7fELF\x02\x01\x01")
        .zeros(9)
        .u16(3)
        .u16(machine)
        .u32(1)
        .u64(0x1000)
        .u64(64)
        .u64(0)
        .u32(0)
        .u16(64)
        .u16(56)
        .u16(u16::from(interpreter.is_some()))
        .u16(64)
        .u16(0)
        .u16(0);
    let Some(path) = interpreter else {
        return header.0;
    };
    header
        .u32(3)
        .u32(4)
        .u64(120)
        .u64(0)
        .u64(0)
        .u64(path.len() as u64)
        .u64(path.len() as u64)
        .u64(1)
        .raw(path.as_bytes())
        .0
}
