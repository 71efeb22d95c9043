"""Makes the pictures in Vectors, independently of Watchword."""
