"""What is public: schema files, hierarchies, domains; value to code and back, one value at a time."""
