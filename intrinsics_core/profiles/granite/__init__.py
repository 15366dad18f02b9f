"""The Granite families: 3.2 and 3.3 with prompts rendered here, 4.x driven by each adapter's own ``io.yaml``."""
