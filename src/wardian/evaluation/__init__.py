"""Many measurements over time: campaigns kept in one store, compared, explained.

schema     the tables of the store and how older ones become new ones
model      campaign, case, result, figure, finding, step: what the store holds, as values
reading    questions to a store
store      opening one, and writing to it
"""
