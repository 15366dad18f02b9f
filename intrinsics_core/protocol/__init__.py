"""What a plugin author imports: tasks, requests, results, calls, profiles, errors and telemetry."""
