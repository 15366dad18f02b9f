"""What any program of this kind needs: cancellation, safe forks, secrets kept out of text, places on the hub."""
