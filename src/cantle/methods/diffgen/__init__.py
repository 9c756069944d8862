"""DiffGen: tables generalised for classification (Mohammed et al. 2011)."""
