//! Dumps one call of candle-flash-attn as a flashcheck case. Needs candle-core with its feature cuda.

use std::collections::HashMap;

use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::{CpuStorage, DeviceLocation, Result, Storage, Tensor};

/// Writes `{stem}.safetensors` and `{stem}.json`. `tensors` are named as the wrapper's arguments
/// are, and are the very views that it gets, not copies; `args` is a JSON object.
pub fn case_from_candle(
    stem: &str,
    function: &str,
    tensors: &[(&str, &Tensor)],
    args: &str,
) -> Result<()> {
    let file = format!("{stem}.safetensors");
    let entries: HashMap<&str, Tensor> = tensors.iter().map(|&(n, t)| (n, t.clone())).collect();
    candle_core::safetensors::save(&entries, &file)?; // copies every view row-major to the host

    let mut storages = Vec::new();
    let mut specs = Vec::new();
    for &(name, tensor) in tensors {
        let layout = tensor.layout();
        let mut spec = format!(
            r#""dtype": "{}", "shape": {:?}, "strides": {:?}, "offset": {}, "device": "{}""#,
            tensor.dtype().as_str(),
            layout.dims(),
            layout.stride(),
            layout.start_offset(),
            device_name(tensor.device().location()),
        );
        let views: Vec<&str> = tensors
            .iter()
            .filter(|(_, other)| storage_address(other) == storage_address(tensor))
            .map(|&(n, _)| n)
            .collect();
        if let Some(elements) = storage_elements(tensor) {
            let shared = format!(r#""{}""#, views.join("_"));
            if views.len() == 1 {
                spec += &format!(r#", "storage": {elements}"#);
            } else {
                spec += &format!(r#", "storage": {shared}"#);
                if views[0] == name {
                    storages.push(format!(r#"{shared}: {{"elements": {elements}}}"#));
                }
            }
        }
        let file_name = file.rsplit('/').next().unwrap_or(&file);
        specs.push(format!(
            r#"    "{name}": {{{spec}, "file": "{file_name}", "tensor": "{name}"}}"#
        ));
    }
    let case = format!(
        r#"{{
  "schema": 1,
  "wrapper": "candle-flash-attn",
  "function": "{function}",
  "storages": {{{}}},
  "tensors": {{
{}
  }},
  "args": {args}
}}
"#,
        storages.join(", "),
        specs.join(",\n"),
    );
    std::fs::write(format!("{stem}.json"), case)?;
    Ok(())
}

fn device_name(location: DeviceLocation) -> String {
    match location {
        DeviceLocation::Cpu => "cpu".to_string(),
        DeviceLocation::Cuda { gpu_id } => format!("cuda:{gpu_id}"),
        DeviceLocation::Metal { gpu_id } => format!("metal:{gpu_id}"),
    }
}

/// Equal for views of one allocation.
fn storage_address(tensor: &Tensor) -> usize {
    let (storage, _) = tensor.storage_and_layout();
    &*storage as *const Storage as usize
}

/// The whole allocation, of which the tensor may be a part.
fn storage_elements(tensor: &Tensor) -> Option<usize> {
    let (storage, _) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(CpuStorage::U32(s)) => Some(s.len()),
        Storage::Cpu(CpuStorage::F16(s)) => Some(s.len()),
        Storage::Cpu(CpuStorage::BF16(s)) => Some(s.len()),
        Storage::Cpu(CpuStorage::F32(s)) => Some(s.len()),
        Storage::Cuda(cuda) => match &cuda.slice {
            CudaStorageSlice::U32(s) => Some(s.len()),
            CudaStorageSlice::F16(s) => Some(s.len()),
            CudaStorageSlice::BF16(s) => Some(s.len()),
            CudaStorageSlice::F32(s) => Some(s.len()),
            _ => None,
        },
        _ => None,
    }
}
