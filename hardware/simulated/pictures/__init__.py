"""Pictures of the simulated table: cloth, hands, cards, noise."""
