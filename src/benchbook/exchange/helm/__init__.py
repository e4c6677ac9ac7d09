"""helm: reads the folders that HELM writes, one a run."""
