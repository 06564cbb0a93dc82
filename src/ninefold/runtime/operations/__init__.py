"""What is done for a request, a timer or the operator, inside a transaction: operations of a plan, made ready."""
