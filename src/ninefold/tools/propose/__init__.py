"""Conventions put into a contract as proposals, and proposals turned into facts; layout is kept to the byte."""
