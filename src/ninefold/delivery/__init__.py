"""What leaves the service by itself: webhooks, and the end of what need not be kept any longer."""
