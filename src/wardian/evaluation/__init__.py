"""Many measurements over time: campaigns kept in one store, compared, explained.

schema, model, reading, store           what was measured
changes, timeline, selecting            since when it is so, and what came between
exporting, merging                      for other programs and other machines
config, inventory, surroundings         what to measure, and where
units, preparing                        as independent units of work, with all they depend on
performing, executing, cluster          performed here, or elsewhere
campaign                                what is known already, and the rest
comparison, refused, findings           what flipped, and what is wrong
policy_edit, patches, candidates,
reverting, proposals                    what would mend it, tried
documents/, writing                     what people and programs read
nightly                                 all of it
"""
