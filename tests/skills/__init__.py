"""Tests of wardian.skills: what a skill is, and the archives and folders it comes in."""
