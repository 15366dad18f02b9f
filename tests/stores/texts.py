"""What every store is filled with: name, town, text."""

TEXTS = {
    "mill": ("north", "Ada Brink built the tide mill at Port Ellery in 1911."),
    "ferry": ("north", "In winter the ferry to the mainland takes seventy-five minutes."),
    "fog": ("south", "Fog is common from March to May."),
    "ticket": ("south", "A day ticket for the museum costs nine euros."),
    "cranes": ("south", "The harbour has two cranes, which unload timber."),
}
QUESTION = "Who was the engineer of the water mill?"
