"""The twelve judges of CoRE, by models or measured, and the debate over what they say."""
