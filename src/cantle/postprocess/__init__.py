"""Post-processing: noisy answers become groups and records, at no privacy cost."""
