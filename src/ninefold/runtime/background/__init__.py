"""What the service does by itself: webhooks and a broker, and the end of what need not be kept any longer."""
