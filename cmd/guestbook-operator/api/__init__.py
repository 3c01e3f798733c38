"""The API group of guestbook-operator."""
